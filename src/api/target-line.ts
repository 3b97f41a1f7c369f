/** Why a line is no target, as the end of a sentence, and what to do. */
interface LineProblem {
  readonly problem: string
  readonly hint: string
}

/** The lines of an indented JSON document that end or begin one of its lists or objects. */
const brackets = new Set(['[', ']', '],', '}', '},'])

/** Returns what a JSON text says; undefined for another text. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a line is a part of JSON, as jq prints it without -r. `[locale]`, the name of a file, is a target. */
const looksLikeJson = (line: string): boolean =>
  line.startsWith('{') ||
  brackets.has(line) ||
  /^"(?:.*")?,?$/s.test(line) ||
  /^\[\s*"/.test(line) ||
  (line.startsWith('[') && tryParseJson(line) !== undefined)

const controlCharacter = /[\0-\u001F\u007F-\u009F]/

function describeControl(character: string): LineProblem {
  switch (character) {
    case '\0':
      return {
        problem: 'contains a NUL byte',
        hint: 'Separate targets with newlines, not NUL bytes, and save the list as UTF-8.',
      }
    case '\r':
      return {
        problem: 'contains a carriage return that is not at its end',
        hint: 'End each line with a newline. A program that shows its progress must write it to standard error.',
      }
    case '\t':
      return { problem: 'contains a tab', hint: 'Write only the target on each line, without other columns.' }
    default: {
      const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
      return {
        problem: `contains the control character U+${code}`,
        hint: 'Switch colors off in the program that writes the list, for example with NO_COLOR=1.',
      }
    }
  }
}

/** Returns why a trimmed text is no target; undefined for a target. `fromJson` names the option that reads JSON. */
export function findLineProblem(line: string, fromJson: string): LineProblem | undefined {
  const [control] = controlCharacter.exec(line) ?? []
  if (control !== undefined) return describeControl(control)
  if (!looksLikeJson(line)) return undefined
  return {
    problem: 'looks like JSON',
    hint: `To read a JSON array of strings, use ${fromJson}. To print one name per line, use jq -r.`,
  }
}

import { readdirSync, readFileSync } from 'node:fs'

/** A fenced block of a document. */
export interface Block {
  readonly language: string
  readonly text: string
  readonly line: number
  /** The heading that it stands below. */
  readonly heading: string
}

/** The documents that people read, by their paths. */
export const documents: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'RELEASING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...readdirSync('docs')
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
  'skills/mergeq/SKILL.md',
]

/** The fenced blocks of a document, in order. */
export function blocksOf(path: string): readonly Block[] {
  const blocks: Block[] = []
  let heading = ''
  let open: { readonly language: string; readonly line: number; readonly lines: string[] } | undefined
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    if (open !== undefined && line === '```') {
      blocks.push({ language: open.language, text: `${open.lines.join('\n')}\n`, line: open.line, heading })
      open = undefined
    } else if (open !== undefined) open.lines.push(line)
    else if (line.startsWith('```')) open = { language: line.slice(3), line: index + 1, lines: [] }
    else heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading
  }
  if (open !== undefined) throw new Error(`${path}:${open.line}: the block has no end`)
  return blocks
}

/** The command lines of a block of shell, without their comments; one that sets options is one script. */
export const linesOf = ({ text }: Block): readonly string[] =>
  /^set -/m.test(text)
    ? [text]
    : text
        .replace(/ *\\\n */g, ' ')
        .split('\n')
        .map(line => line.replace(/(?:^|\s{2,})# .*$/, '').trim())
        .filter(line => line !== '')

/** The commands of a console, each with the output that stands below it. */
export const transcriptsOf = ({ text }: Block): readonly (readonly [string, readonly string[]])[] =>
  text
    .split(/^\$ /m)
    .slice(1)
    .map(part => part.trimEnd().split('\n'))
    .map(([command = '', ...output]) => [command, output])

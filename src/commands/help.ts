import { renderHelp } from '../cli/help.ts'
import type { HelpOptions } from '../cli/help-layout.ts'
import { parseCommandLine } from '../cli/parse.ts'
import { renderTopic, renderTopics, topics } from '../cli/topics.ts'
import { type CommandGroup, command } from '../command/command.ts'
import type { Input } from '../command/inputs.ts'
import { shouldColor } from '../output/styled-text.ts'

const topicNames = Object.keys(topics)

const isTopic = (name: string): name is keyof typeof topics => topicNames.includes(name)

const wordsArgument: Input<readonly string[]> = {
  definitions: [
    {
      name: 'word',
      variadic: true,
      summary: `Command, topic (${topicNames.join(', ')}) or words to search for`,
      suggestions: topicNames,
      command: true,
    },
  ],
  read: args => args.get('word') ?? [],
}

export const helpCommand = (groups: readonly CommandGroup[]) =>
  command({
    name: 'help',
    summary: 'Show help for a command or topic, or search all help',
    settings: 'not needed',
    options: { words: wordsArgument },
    prints: {
      table: 'the help text, as wide as the terminal, at most 100 columns',
      json: 'the same information as JSON: commands, arguments, flags, choices, defaults, examples, exit codes and schemas',
      ndjson: 'one command per line',
    },
    examples: [
      'mergeq help pr submit',
      'mergeq help exit-codes',
      'mergeq help merge method',
      "mergeq help --json | jq -r '.commands[].command'",
    ],
    async run({ words }, { host: { env, out, runtime }, options: { format, color } }) {
      const options: HelpOptions = {
        out,
        format,
        hasColor: shouldColor({ color, env, terminal: out.terminal }),
        isShort: false,
        version: runtime.version,
      }
      const topic = words.join(' ')
      if (topic === 'topics') {
        await out.write(renderTopics(options))
        return 0
      }
      if (isTopic(topic)) {
        await out.write(renderTopic(topic, options))
        return 0
      }
      const reading = await parseCommandLine(words, groups)
      if (reading.path.length === words.length) {
        await out.write(await renderHelp(reading, groups, options))
        return 0
      }
      const { findHelp } = await import('../cli/find-help.ts')
      const found = await findHelp(words, groups, options)
      if (found.kind === 'text') await out.write(found.text)
      else if (found.kind === 'topic') await out.write(renderTopic(found.topic, options))
      else await out.write(await renderHelp(await parseCommandLine(found.path, groups), groups, options))
      return 0
    },
  })

import { exitCodeList } from '../base/errors.ts'
import { settingDefinitions } from '../config/setting-definitions.ts'
import { outputFormats } from '../output/output-formats.ts'
import { otherVariables } from './command-doc.ts'
import { type HelpOptions, type Item, Layout } from './help-layout.ts'

const listSettingVariables = (): readonly Item[] =>
  Object.values(settingDefinitions)
    .filter(({ env }) => env.length > 0)
    .map(({ flag, env, summary, default: value, defaultText = value }) => {
      const option = flag === undefined ? '' : `${flag}: `
      const defaultNote = defaultText === undefined ? '' : ` (default: ${defaultText})`
      return [env.join(', '), `${option}${summary}${defaultNote}`]
    })

function renderExitCodes(layout: Layout): string {
  const kindWidth = Math.max(...exitCodeList.map(({ kind }) => kind.length))
  return [
    'Exit codes:\n',
    layout.items(
      exitCodeList.map(({ code, kind, when }) => [
        `${String(code).padStart(3)}  ${kind.padEnd(kindWidth)}`,
        when.replaceAll('`', ''),
      ]),
    ),
    layout.paragraph(
      'With several pull requests, mergeq exits with the most severe exit code. The help of each command lists its exit codes. If the program that reads the output exits early, mergeq stops without an error message and uses the exit code that it would otherwise have returned.',
    ),
  ].join('\n')
}

const renderEnvironment = (layout: Layout): string =>
  [
    'Settings (an option takes precedence over its variable):\n',
    layout.items(listSettingVariables()),
    'Other variables:\n',
    layout.items(otherVariables),
    layout.paragraph(
      'mergeq uses the first source that has a value: option, environment, project file, profile, CI job, git checkout, default. To see where each value comes from:',
    ),
    layout.indented('mergeq config list --show-origin'),
  ].join('\n')

const renderFormatting = (layout: Layout): string =>
  [
    'Output formats (--output, --json, MERGEQ_OUTPUT):\n',
    layout.items(outputFormats.map(({ name, summary }) => [name, summary])),
    layout.paragraph(
      '--fields state,readiness.hasImpactedTargets prints only these fields, in every format. A name is a field of the record, such as failure_rate_last_7d. An unknown name is an error that lists the names.',
    ),
    layout.paragraph(
      'After a change, json has a receipt: what was sent, and whether it worked. Its delivery is confirmed (the service answered), confirmed-by-read (mergeq read the change back), not-applied (nothing was changed), or unknown.',
    ),
    layout.paragraph(
      '--set path=value adds a field to the body of the request, for a field that no option sets. Dots separate nested keys: --set pr.number=7. A value that is JSON is sent as JSON (true, 7, ["a"]), any other as text. With mergeq api, the options are -F, and -f for a value that is always text.',
    ),
    layout.paragraph(
      'Standard output contains results only; progress, warnings and errors go to standard error. With json and ndjson, an error is one JSON object.',
    ),
    layout.indented('mergeq pr get 123 --json | jq -r .state') +
      layout.indented('mergeq pr get 123 --fields state,prTitle') +
      layout.indented('mergeq flaky list --since 7d -o ndjson | jq -r .name'),
  ].join('\n')

const renderStates = (layout: Layout): string =>
  [
    layout.paragraph('States of a pull request, in the usual order:'),
    layout.items([
      ['not ready', 'submitted, but something is missing: a review, a check, impacted targets'],
      ['pending', 'waits for a free test run'],
      ['testing', 'is tested together with the pull requests ahead of it'],
      ['tests passed', 'passed, and waits for the pull requests ahead of it'],
      [
        'pending failure',
        'its tests failed, or those of one ahead; the queue does not know yet which one is to blame',
      ],
      ['merged', 'is in the target branch'],
      ['failed', 'was removed from the queue after a failure'],
      ['cancelled', 'was removed from the queue by a person, a new commit, a close or a time limit'],
    ]),
    layout.paragraph('States of a queue:'),
    layout.items([
      ['running', 'tests and merges'],
      [
        'paused',
        'starts no tests and merges nothing; the order is kept. It stays paused until mergeq queue resume',
      ],
      ['draining', 'finishes and merges what is tested now; the others wait'],
      ['switching modes', 'changes between a single lane and several lanes; no tests start'],
    ]),
    layout.paragraph('Batches:'),
    layout.paragraph(
      'With --batch, the queue tests several pull requests in one test run. If the run fails, the batch is split: its pull requests are tested again in smaller batches until the one that failed is found. pr submit --no-batch tests a pull request alone.',
    ),
    layout.paragraph('Priorities (--priority):'),
    layout.items([
      ['urgent', '0: is tested first, and interrupts what is tested now'],
      ['high', '10'],
      ['medium', '100: the default'],
      ['low', '200'],
      ['a number', '0 to 255; smaller numbers come first, equal ones in the order of submission'],
    ]),
    layout.paragraph('In --json, a state is written in capitals: NOT_READY.'),
  ].join('\n')

const renderProfiles = (layout: Layout): string =>
  [
    layout.paragraph(
      'A profile is a named set of stored settings and tokens, for example one for each organization. Without a name, mergeq uses the profile `default`.',
    ),
    layout.paragraph('Create a profile and log in:'),
    layout.lines(['mergeq auth login --profile work', 'mergeq config set org acme --profile work']),
    layout.paragraph('Use it, for one command or for the whole terminal:'),
    layout.lines(['mergeq queue get --profile work', 'export MERGEQ_PROFILE=work']),
    layout.paragraph('See what is in use, and where the settings are stored:'),
    layout.lines(['mergeq config list --show-origin', 'mergeq auth list', 'mergeq config path']),
    layout.paragraph(
      'mergeq auth logout --profile work deletes the token of a profile, and names the command that deletes its settings. A profile without both is gone. A token is sent only to the service that it was stored for.',
    ),
  ].join('\n')

/** The topics of help, each with its summary and what renders it. */
export const topics = {
  'exit-codes': ['What each exit code means', renderExitCodes],
  environment: ['Variables that mergeq reads, and where settings come from', renderEnvironment],
  formatting: ['Output formats, fields, receipts and --set', renderFormatting],
  states: ['States of pull requests and queues, batches, priorities', renderStates],
  profiles: ['Several organizations or services, each with its token', renderProfiles],
} as const

export const topicItems: readonly Item[] = Object.entries(topics).map(([name, [summary]]) => [name, summary])

export const renderTopics = (options: HelpOptions): string => {
  const layout = new Layout(options)
  return [
    'Topics:\n',
    layout.items(topicItems),
    layout.paragraph('Read one: mergeq help <topic>. Search all help: mergeq help <word>.'),
  ].join('\n')
}

export function renderTopic(topic: keyof typeof topics, options: HelpOptions): string {
  const [, render] = topics[topic]
  return render(new Layout(options))
}

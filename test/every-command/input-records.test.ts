import { describe, expect, test } from 'vitest'
import { isChange, operationName } from '../../src/api/operation.ts'
import { isOption } from '../../src/command/inputs.ts'
import { allCommands } from '../support/commands.ts'
import { mergeq, queueEnv } from '../support/harness.ts'

/** Every command that takes several pull requests, and so `-`. */
const commands = allCommands.filter(({ definitions }) =>
  definitions.some(
    definition => !isOption(definition) && definition.name === 'pr' && definition.variadic === true,
  ),
)
const changing = commands.filter(({ operation }) => operation !== undefined && isChange(operation))

const more: Readonly<Record<string, string>> = {
  'pr cancel': ' --yes',
  'pr land': ' --timeout 2s --interval 1s',
  'pr wait': ' --timeout 0',
}

const receipt = (operation: string, fields: object = {}) =>
  JSON.stringify({
    ...{ operation, repo: 'github.com/acme/web', targetBranch: 'release/2.4', pr: 7, ok: false },
    ...fields,
  })

const operationOf = (command: string) =>
  operationName(commands.find(each => each.command === command)?.operation?.route ?? 'POST /none')

async function run(command: string, input: string, words = '') {
  const { code, err, requests } = await mergeq(`${command} -${more[command] ?? ''}${words}`, {
    env: queueEnv,
    input,
    answer: ({ path }) =>
      path.endsWith('submitPullRequest') ? { body: '' } : { status: 404, body: 'not found' },
  })
  const queues = requests
    .filter(({ body }) => body.includes('"targetBranch"'))
    .map(({ body }) => JSON.parse(body))
    .map(({ repo, targetBranch }) => `${repo.owner}/${repo.name} ${targetBranch}`)
  return { code, err, queues: [...new Set(queues)] }
}

describe.each(commands.map(({ command }) => command))('`%s -`', command => {
  test('acts in the repository and the queue that the receipt names', async () => {
    const { queues } = await run(command, receipt(operationOf(command)))
    expect(queues).toEqual(['acme/web release/2.4'])
    const other = receipt(operationOf(command), { repo: 'github.com/acme/api', targetBranch: 'origin/x' })
    expect((await run(command, other)).queues).toEqual(['acme/api origin/x'])
  })

  test('-b and -R may not say otherwise', async () => {
    for (const words of [' -b main', ' -R acme/api']) {
      const { code, queues } = await run(command, receipt(operationOf(command)), words)
      expect({ code, queues }).toEqual({ code: 2, queues: [] })
    }
    const same = await run(command, receipt(operationOf(command)), ' -b refs/heads/release/2.4 -R Acme/Web')
    expect(same.queues).toEqual([expect.stringMatching(/^acme\/web release\/2\.4$/i)])
  })
})

test.each(changing.map(({ command }) => command))(
  '`%s -` refuses the receipt of another operation',
  async command => {
    const other = operationOf(command) === 'cancelPullRequest' ? 'submitPullRequest' : 'cancelPullRequest'
    for (const fields of [{}, { ok: true }]) {
      const { code, err, queues } = await run(command, receipt(other, fields))
      expect({ code, queues }).toEqual({ code: 2, queues: [] })
      expect(err).toContain(`the receipt of another operation: ${other}, not ${operationOf(command)}`)
    }
  },
)

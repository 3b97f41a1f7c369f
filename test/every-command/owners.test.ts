import { describe, expect, test } from 'vitest'
import { clientOperations } from '../../src/api/operations/index.ts'
import { allCommands } from '../support/commands.ts'
import { openStory } from '../support/harness.ts'
import { createHostClient, hostAt } from '../support/library-client.ts'

const lines: Readonly<Record<string, string>> = { 'flaky gate': '--max 1000' }

const commands = allCommands.flatMap(({ command, definitions }) =>
  definitions.some(({ name }) => name === '--owner') ? [command] : [],
)

const methods = Object.entries(clientOperations).flatMap(([name, { params }]) =>
  'owner' in params ? [name] : [],
)

describe('GitHub does not distinguish the case of owners', () => {
  test.each(commands)('%s --owner', async command => {
    const { mergeq } = await openStory()
    const run = (owner: string) => mergeq(`${command} ${lines[command] ?? ''} --owner ${owner}`)
    const { out } = await run('@acme/mobile')
    const other = await run('@Acme/Mobile')
    expect(other.out.toLowerCase()).toBe(out.toLowerCase())
    expect(other.err).not.toMatch(/owned by/)
    expect((await run('@acme/nobody')).out).not.toBe(out)
  })

  test.each(methods)('%s', async name => {
    const { env, clock } = await openStory()
    const { MERGEQ_BASE_URL: baseUrl, MERGEQ_TOKEN: token = '' } = env
    const options = { baseUrl, token, repo: 'acme/web', targetBranch: 'main', org: 'acme' }
    const client = createHostClient(options, hostAt(clock)) as unknown as Record<
      string,
      (options: object) => Promise<object>
    >
    const result = await client[name]?.({ owner: '@acme/mobile' })
    expect(JSON.stringify(result)).toContain('@acme/mobile')
    expect(await client[name]?.({ owner: '@ACME/Mobile' })).toEqual(result)
  })
})

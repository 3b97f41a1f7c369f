import { expect, test } from 'vitest'
import { openStory } from '../support/harness.ts'

// docs/versions.md
test('a record of states and a receipt of a newer version are read without what is not known', async () => {
  const { mergeq } = await openStory()
  const state = { repo: 'github.com/acme/web', targetBranch: 'main', before: 'RUNNING', after: 'PAUSED' }
  const files = { 'states.json': JSON.stringify([{ ...state, later: 1 }]) }
  expect((await mergeq('queue resume --from states.json --yes', { files })).code).toBe(0)
  const input = '{"operation":"cancelPullRequest","pr":4,"ok":false,"later":1}\n'
  expect(await mergeq('pr cancel - --yes', { input })).toMatchObject({
    code: 5,
    out: expect.stringMatching(/^4\t/),
  })
})

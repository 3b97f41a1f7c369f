import { beforeEach, describe, expect, test } from 'vitest'
import { openStory, type Story } from '../support/harness.ts'

describe('a file of a newer version (docs/versions.md)', () => {
  let story: Story
  beforeEach(async () => {
    story = await openStory()
  })
  test.each([
    [
      'an unknown field',
      [{ repo: 'github.com/acme/web', targetBranch: 'main', before: 'RUNNING', after: 'PAUSED', later: 1 }],
      0,
    ],
    ['another form', { version: 2, queues: [] }, 2],
  ])('a record with %s', async (_, record, due) => {
    const files = { 'states.json': JSON.stringify(record) }
    const { code } = await story.mergeq('queue resume --from states.json --yes', { files })
    expect(code).toBe(due)
  })

  test('a receipt with an unknown field is read', async () => {
    const input = '{"operation":"cancelPullRequest","pr":4,"ok":false,"later":1}\n'
    expect(await story.mergeq('pr cancel - --yes', { input })).toMatchObject({
      code: 5,
      out: expect.stringMatching(/^4\t/),
    })
  })
})

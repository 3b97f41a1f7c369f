import { expect, test } from 'vitest'
import { openStory } from '../support/harness.ts'

/** What a service does that has the operations of the API document and no others. */
test('the main job works where only the operations of the API document exist', async () => {
  const story = await openStory({ dialect: 'document', scenario: 'failure' })
  const run = async (line: string) => {
    const { code, out, err } = await story.mergeq(line)
    return { code, out, err }
  }
  expect(await run('pr submit 7 9')).toMatchObject({ code: 0 })
  expect(await run('pr wait 7 --interval 1s --json')).toMatchObject({
    code: 0,
    out: expect.stringContaining('"outcome":"merged"'),
  })
  expect(await run('pr wait 7 9 --interval 1s')).toMatchObject({ code: 3 })
  expect(await run('pr explain 9')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^verdict\tdropped/),
  })
  expect(await run('queue get --json')).toMatchObject({
    code: 0,
    out: expect.stringContaining('"state":"RUNNING"'),
  })
  expect(await run('queue explain')).toMatchObject({ code: 0 })
  expect(await run('flaky list --since 1d --limit 1')).toMatchObject({ code: 0 })
  expect(await run('metrics')).toMatchObject({ code: 0, out: expect.stringContaining('mq_') })
  for (const line of ['pr list', 'queue runs', 'flaky quarantined'])
    expect(await run(line)).toMatchObject({
      code: 5,
      out: '',
      err: expect.stringContaining('Only the hosted service has the operation'),
    })
})

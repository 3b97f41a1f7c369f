import { expect, test } from 'vitest'
import { serviceKnowing, where } from '../../support/guard.ts'
import { mergeq, type Setting } from '../../support/harness.ts'

/** A checkout of the repository in which git says this. */
const checkout =
  (heads: string): NonNullable<Setting['spawn']> =>
  (_, args) =>
    args.includes('remote')
      ? { code: 0, out: 'origin\thttps://github.com/ACME/web.git (fetch)\n' }
      : { code: 0, out: heads }

test('`guard check` asks about the current branch, without a push', async () => {
  const run = (current: string, answer = serviceKnowing(), repo = where.MERGEQ_REPO) =>
    mergeq('guard check', {
      env: { ...where, MERGEQ_REPO: repo },
      inputTerminal: true,
      answer,
      spawn: checkout(`${current}\n`),
    })
  const { code, err } = await run('fix')
  expect({ code, err }).toEqual({
    code: 21,
    err: expect.stringMatching(/^mergeq: #7 has been testing for 4m, /),
  })
  expect(await run('other')).toMatchObject({
    code: 0,
    err: 'A push of other removes no pull request from the queue. If one was just submitted: it can take up to 90s to appear.\n',
  })
  expect(await run('other', serviceKnowing(), 'acme/api')).toMatchObject({
    code: 0,
    err: 'mergeq: Cannot tell whether a push of other removes a pull request from the queue: only the name of the branch was checked, because no remote of the checkout belongs to github.com/acme/api.\n',
  })
  expect((await run('fix', () => ({ status: 500 }))).code).toBe(7)
  const detached = await mergeq('guard check', { env: where, spawn: () => ({ code: 1, out: '' }) })
  expect(detached.code).toBe(2)
})

import { expect, test } from 'vitest'
import { mergeq, type Seen } from '../../support/harness.ts'

test.each([
  ['merged', 'is already merged', false],
  ['failed', 'has already failed', true],
  ['cancelled', 'is already cancelled', true],
])(
  '`pr restart` of one that is %s says so on a terminal, and how to test it again',
  async (state, said, leads) => {
    const answer = ({ path }: Seen) =>
      path.endsWith('/getSubmittedPullRequest')
        ? { body: JSON.stringify({ state, isCurrentlySubmittedToQueue: false }) }
        : { status: 400, body: 'not queued' }
    const setting = { answer, terminal: true, columns: 200, env: { NO_COLOR: '1' } }
    const { code, out, err } = await mergeq('pr restart 7 -R acme/web -b main', setting)
    expect({ code, out }).toEqual({ code: 6, out: '' })
    expect(err).toContain(`mergeq: #7 ${said}.\n`)
    expect(err.includes('submit it: mergeq pr submit 7 --repo acme/web --target-branch main\n')).toBe(leads)
  },
)

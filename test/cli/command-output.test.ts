import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStory, type Story } from '../support/harness.ts'

const dialects = ['document', 'hosted'] as const

/** What test/golden/formats.txt does not have, in an order in which it has something to show. */
const lines: readonly (readonly [name: string, line: string])[] = [
  ['pr-targets', 'pr targets 7 //cart:lib //web:app --sha 4f2a9c1'],
  ['pr-submit', 'pr submit 7 8 --priority high'],
  ['queue-update', 'queue update --concurrency 2 --pending-failure-depth 1'],
  ['pr-testing', 'pr testing --pr 7'],
  ['queue-get', 'queue get'],
  ['flaky-get', 'flaky get'],
]

const linesOf = (text: string) => text.split(/(?<=\n)/)

// Terminals are in test/golden/screens.
describe('what commands print for scripts is in test/golden/commands', () => {
  const formats = ['(pipe)', '--json']
  const stories = new Map<string, Story>()

  beforeAll(async () => {
    for (const dialect of dialects)
      for (const flags of formats) stories.set(`${dialect} ${flags}`, await openStory({ dialect }))
  })
  afterAll(() => Promise.all([...stories.values()].map(story => story.close())))

  /** What a command line prints in a sandbox of its own, without the notice of the sandbox. */
  async function show(dialect: string, flags: string, name: string, line: string): Promise<string> {
    const story = stories.get(`${dialect} ${flags}`)
    if (story === undefined) throw new Error('no story')
    story.clock.now += 300
    const id = name === 'flaky-get' ? (await story.mergeq('flaky list --fields id --limit 1')).out.trim() : ''
    const { code, out, err } = await story.mergeq(`${line} ${id} ${flags === '--json' ? flags : ''}`)
    expect({ line, code }).toEqual({ line, code: 0 })
    const [notice, ...said] = err.split(/^/m)
    expect(notice).toBe('mergeq: this is a sandbox; nothing here is real.\n')
    return out + said.map(text => `! ${text}`).join('')
  }

  test.each(lines)('%s', async (name, line) => {
    let golden = ''
    for (const flags of formats) {
      const [document = '', hosted = ''] = await Promise.all(
        dialects.map(dialect => show(dialect, flags, name, line)),
      )
      golden += `$ mergeq ${line} ${flags}\n${document}`
      expect(linesOf(hosted)).toHaveLength(linesOf(document).length)
      const others = linesOf(hosted).filter(text => !linesOf(document).includes(text))
      if (others.length > 0) golden += `the hosted service differs:\n${others.join('')}`
    }
    await expect(golden).toMatchFileSnapshot(`../golden/commands/${name}.txt`)
  })
})

test('--exit-status of a pull request that was just submitted is that of each dialect', async () => {
  const codes = []
  for (const dialect of dialects) {
    const story = await openStory({ dialect })
    await story.mergeq('pr submit 9')
    codes.push((await story.mergeq('pr get 9 --exit-status')).code)
    await story.close()
  }
  expect(codes).toEqual([8, 5])
})

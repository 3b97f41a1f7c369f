import { expect, test } from 'vitest'
import { openStory, type Story } from '../support/harness.ts'

const dialects = ['both', 'hosted'] as const

const linesOf = (text: string) => text.split(/(?<=\n)/)

/** What a command line prints in a sandbox, without the notice of the sandbox. */
async function show({ clock, mergeq }: Story, line: string): Promise<readonly string[]> {
  clock.now += 300
  const { code, out, err } = await mergeq(line)
  expect({ line, code }).toEqual({ line, code: 0 })
  const [notice, ...said] = linesOf(err)
  expect(notice).toBe('mergeq: this is a sandbox; nothing here is real.\n')
  return [...linesOf(out), ...said.map(text => `! ${text}`)]
}

// Terminals are in test/golden/screens, other commands in test/golden/formats.txt.
test('what commands print for scripts in both dialects is in test/golden/commands.txt', async () => {
  let golden = ''
  for (const flags of ['', ' --json']) {
    const stories = await Promise.all(dialects.map(dialect => openStory({ dialect })))
    for (const words of [
      'pr targets 7 //cart:lib //web:app --sha 4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9',
      'pr submit 7 8 --priority high',
      'queue update --concurrency 2 --pending-failure-depth 1 --fields state,branch,concurrency,pendingFailureDepth',
      'pr testing --pr 7',
    ]) {
      const [document = [], hosted = []] = await Promise.all(
        stories.map(story => show(story, `${words}${flags}`)),
      )
      golden += `$ mergeq ${words}${flags}\n${document.join('')}`
      expect(hosted).toHaveLength(document.length)
      const others = hosted.filter(text => !document.includes(text))
      if (others.length > 0) golden += `the hosted service differs:\n${others.join('')}`
    }
    for (const story of stories) await story.close()
  }
  await expect(golden).toMatchFileSnapshot('../golden/commands.txt')
})

test('--exit-status of a pull request that was just submitted is that of each dialect', async () => {
  const codes = []
  for (const dialect of dialects) {
    const story = await openStory({ dialect })
    await story.mergeq('pr submit 9')
    codes.push((await story.mergeq('pr get 9 --exit-status')).code)
  }
  expect(codes).toEqual([8, 5])
})

test('in a sandbox shell, only the shell says that its service is a sandbox', async () => {
  const story = await openStory()
  const env = { MERGEQ_SANDBOX_SHELL: '1' }
  expect(await story.mergeq('queue get --json', { env })).toMatchObject({ code: 0, err: '' })
})

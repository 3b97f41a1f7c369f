import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serveScript } from '../support/harness.ts'
import { bareEnvironment, launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = temporaryFolder('mergeq-browser-')
const url = 'https://github.com/acme/web/pull/7'

/** Runs `pr get 7 --web` of the built program with a browser that is this shell script, or with none. */
async function getWithBrowser(script?: string) {
  const folder = mkdtempSync(join(root, 'bin-'))
  if (script !== undefined) writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\n${script}\n`, { mode: 0o700 })
  const service = await serveScript(() => ({ body: '{"state":"MERGED","prNumber":7}' }))
  const words = ['pr', 'get', '7', '--web', '-R', 'acme/web', '-b', 'main']
  const result = await runProgram([process.execPath, launcher, ...words], {
    cwd: folder,
    env: {
      ...bareEnvironment(folder),
      PATH: script === undefined ? folder : `${folder}:/usr/bin:/bin`,
      MERGEQ_TOKEN: 'qj7-token',
      MERGEQ_BASE_URL: service.baseUrl,
    },
  })
  await service.close()
  return { ...result, folder }
}

test('--web starts the browser of this machine, without the token in its environment', async () => {
  const script = 'echo "$1 $MERGEQ_TOKEN" > "$(dirname "$0")/opened"'
  const { code, out, err, folder } = await getWithBrowser(script)
  const opened = readFileSync(join(folder, 'opened'), 'utf8').trim()
  expect({ code, out, opened }).toEqual({ code: 0, out: '', opened: url })
  expect(err).toContain(`Opened ${url} in your browser.`)
})

test.each([
  ['no browser', undefined, /could not be started: spawn xdg-open ENOENT\./],
  ['a browser that fails', 'exit 3', /could not be started: .*3\.?/],
])('--web with %s ends with 16 and shows the URL', async (_, script, reason) => {
  const { code, err } = await getWithBrowser(script)
  expect(code).toBe(16)
  expect(err).toMatch(reason)
  expect(err).toContain(`Open this page in a browser: ${url}`)
})

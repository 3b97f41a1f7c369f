import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { serveScript } from '../support/harness.ts'
import { bareEnvironment, launcher } from '../support/programs.ts'

/** Runs `pr get 7 --web` of the built program with a browser that is this shell script, or with none. */
async function getWithBrowser(script?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'mergeq-'))
  const service = await serveScript(() => ({ body: '{"state":"MERGED","prNumber":7}' }))
  const environment = bareEnvironment(folder)
  try {
    if (script !== undefined) {
      writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\n${script}\n`)
      chmodSync(join(folder, 'xdg-open'), 0o700)
    }
    const { exitCode, stdout, stderr } = await execa(
      process.execPath,
      [launcher, 'pr', 'get', '7', '--web', '-R', 'acme/web', '-b', 'main'],
      {
        reject: false,
        extendEnv: false,
        cwd: folder,
        env: {
          ...environment,
          PATH: script === undefined ? folder : `${folder}:/usr/bin:/bin`,
          MERGEQ_TOKEN: 'test-token',
          MERGEQ_BASE_URL: service.baseUrl,
        },
      },
    )
    const opened = script?.includes('>') ? readFileSync(join(folder, 'opened'), 'utf8') : ''
    return { exitCode, stdout, stderr, opened }
  } finally {
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const url = 'https://github.com/acme/web/pull/7'

test('--web starts the browser of this machine, without the token in its environment', async () => {
  const { exitCode, stdout, stderr, opened } = await getWithBrowser(
    'echo "$1 $MERGEQ_TOKEN" > "$(dirname "$0")/opened"',
  )
  expect({ exitCode, stdout, opened: opened.trim() }).toEqual({ exitCode: 0, stdout: '', opened: url })
  expect(stderr).toContain(`Opened ${url} in your browser.`)
})

test.each([
  ['no browser', undefined, /could not be started: spawn xdg-open ENOENT\./],
  ['a browser that fails', 'exit 3', /could not be started: .*3\.?/],
])('--web with %s ends with 16 and shows the URL', async (_, script, reason) => {
  const { exitCode, stderr } = await getWithBrowser(script)
  expect(exitCode).toBe(16)
  expect(stderr).toMatch(reason)
  expect(stderr).toContain(`Open this page in a browser: ${url}`)
})

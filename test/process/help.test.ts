import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { settingDefinitions } from '../../src/config/setting-definitions.ts'
import { commandDocs } from '../support/commands.ts'
import { mergeq } from '../support/harness.ts'
import { launcher, testWith } from '../support/programs.ts'

test('every variable that the source reads is in `help environment`, but those of CI jobs and of the system', async () => {
  const text = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts') && !/^config\/(ci|ci-systems)\.ts$/.test(path))
    .map(path => readFileSync(join('src', path), 'utf8'))
    .concat(readFileSync(launcher, 'utf8'))
    .join('\n')
  const read = [...text.matchAll(/\benv\??\.([A-Z][A-Z_]+)/g)].map(([, name = '']) => name)
  const system = [
    'HOME',
    'PATH',
    'APPDATA',
    'LOCALAPPDATA',
    'USERPROFILE',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'GIT_CONFIG_COUNT',
    // Git Bash sets it.
    'MSYSTEM',
  ]
  const environment = (await mergeq('help environment')).out.replace(/\s+/g, ' ')
  const settings = Object.values(settingDefinitions).flatMap(({ env }) => env)
  expect(read.length).toBeGreaterThan(10)
  for (const name of [...new Set([...read, ...settings])].filter(
    name => !system.includes(name) && !isOfRunner(name),
  ))
    expect(environment).toContain(name)
})

/** Variables by which a CI job is known. */
const isOfRunner = (name: string): boolean =>
  /^(GITHUB|GITLAB|TF|TEAMCITY|BUILDKITE|AGENT|SYSTEM|BUILD)_/.test(name)

testWith('mandoc')('the manual page is right roff', () => {
  const warnings = (() => {
    try {
      return execFileSync('mandoc', ['-T', 'lint', 'man/mergeq.1'], { encoding: 'utf8' })
    } catch (error) {
      return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
    }
  })()
  // The date is left out, so that the page changes only when what it says does.
  expect(warnings.split('\n').filter(line => line !== '' && !line.includes('missing date'))).toEqual([])
  const shown = execFileSync('mandoc', ['-T', 'ascii', 'man/mergeq.1'], { encoding: 'utf8' }).replace(
    /.\u0008/g,
    '',
  )
  for (const { command } of commandDocs) expect(shown).toContain(`mergeq ${command} [flags]`)
})

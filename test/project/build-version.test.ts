import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildVersion } from '../../scripts/build-version.mjs'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a build has the commit in its version, unless it is the one of its tag', () => {
  const root = temporaryFolder('mergeq-version-')
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...words], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  expect(buildVersion('1.2.3', root)).toBe('1.2.3')
  git('init', '--quiet')
  expect(buildVersion('1.2.3', root)).toBe('1.2.3')
  writeFileSync(join(root, 'a.txt'), '1')
  git('add', '.')
  git('commit', '--quiet', '--message', 'One')
  const commit = git('rev-parse', 'HEAD').slice(0, 8)
  expect(buildVersion('1.2.3', root)).toBe(`1.2.3+${commit}`)
  writeFileSync(join(root, 'b.txt'), '2')
  expect(buildVersion('1.2.3', root)).toBe(`1.2.3+${commit}.changed`)
  git('tag', 'v1.2.3')
  expect(buildVersion('1.2.3', root)).toBe(`1.2.3+${commit}.changed`)
  git('stash', '--quiet', '--include-untracked')
  expect(buildVersion('1.2.3', root)).toBe('1.2.3')
  expect(buildVersion('1.2.4', root)).toBe(`1.2.4+${commit}`)
  // Installed from source below another checkout.
  mkdirSync(join(root, 'node_modules'))
  expect(buildVersion('1.2.4', join(root, 'node_modules'))).toBe('1.2.4')
})

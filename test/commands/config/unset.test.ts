import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { done, openHome } from '../../support/settings-sources.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const root = temporaryFolder('mergeq-config-unset-')
const open = () => openHome(root)

test('`config unset` does not create a profile', async () => {
  const { home, run } = open()
  expect((await run('config unset repo --profile ghost')).code).toBe(2)
  expect(readdirSync(home)).toEqual([])
})

test('`config unset` removes several values, and with the last one the profile', async () => {
  const { read, run, write } = open()
  const work = { repo: 'acme/web', org: 'acme', future: 1 }
  write({ profiles: { default: { repo: 'acme/web' }, work, old: { repo: 'acme/api', org: 'acme' } } })
  expect(await run('config unset repo org --profile work')).toEqual(done)
  expect(await run('config unset repo org --profile old')).toEqual(done)
  expect(await run('config unset repo')).toEqual(done)
  expect(read()).toEqual({ profiles: { default: {}, work: { future: 1 } } })
})

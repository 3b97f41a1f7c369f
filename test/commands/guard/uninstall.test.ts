import { expect, test } from 'vitest'
import { hookGit, hookPath } from '../../support/guard.ts'
import { mergeq } from '../../support/harness.ts'

test('`guard uninstall` removes the hook of mergeq, and says so where there is none', async () => {
  const disk = new Map([[hookPath, '#!/bin/sh\n# mergeq guard: old\nmergeq guard -- "$@"\n']])
  const run = () => mergeq('guard uninstall', { disk, spawn: hookGit('/repo') })
  expect(await run()).toMatchObject({ code: 0, out: `${hookPath}\tremoved\n`, err: '' })
  expect(disk.size).toBe(0)
  expect(await run()).toMatchObject({ code: 0, out: `${hookPath}\tnothing\n` })
})

test('`guard uninstall` leaves the hook of another program', async () => {
  const disk = new Map([[hookPath, '#!/bin/sh\n']])
  expect((await mergeq('guard uninstall', { disk, spawn: hookGit('/repo') })).code).toBe(6)
  expect(disk.get(hookPath)).toBe('#!/bin/sh\n')
})

import { test } from 'vitest'

/** `npm test` runs a sample of slow tests, `npm run test:all` all of them. */
const isSample = process.env.MERGEQ_TEST_SAMPLE === '1'

/** Returns how often a random test runs: a tenth as often in `npm test`. */
export const sampleRuns = (runs: number): number => (isSample ? Math.ceil(runs / 10) : runs)

/** Returns the cases of a slow test: the first ones in `npm test`. */
export const sampleOf = <Case>(cases: readonly Case[], length: number): readonly Case[] =>
  isSample ? cases.slice(0, length) : cases

/** A slow test, which `npm test` skips. */
export const slowTest = isSample ? test.skip : test

/** A test of the documents and the files of the project, not of what ships: `npm test` skips it. */
export const projectTest = isSample ? test.skip : test

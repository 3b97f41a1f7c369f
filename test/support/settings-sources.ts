import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { mergeq, type Setting } from './harness.ts'
import { encodingsFound, token } from './tokens.ts'

/** A world in which settings are stored. */
export const file = '/home/me/.config/mergeq/config.json'
export const stored = (document: unknown): Pick<Setting, 'env' | 'files'> => ({
  env: { HOME: '/home/me' },
  files: { [file]: typeof document === 'string' ? document : JSON.stringify(document) },
})
export const profiles = (of: Readonly<Record<string, Readonly<Record<string, string | number>>>>) =>
  stored({ profiles: of })

/** Two settings as one; the second wins. */
export const mergeSettings = (one: Setting, other: Setting): Setting => ({
  ...one,
  ...other,
  env: { ...one.env, ...other.env },
  files: { ...one.files, ...other.files },
})

export const requestIn = (out: string) => JSON.parse(out) as { url: string; body?: Record<string, unknown> }

/** The environment of a CI job for pull request 7. */
export const ciJob = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_REPOSITORY: 'from/ci',
  GITHUB_EVENT_NAME: 'pull_request',
  GITHUB_REF: 'refs/pull/7/merge',
  GITHUB_BASE_REF: 'from-ci',
}

/** A service that takes every token. */
export const runningQueue = () => ({
  body: '{"state":"RUNNING","enqueuedPullRequests":[{"prNumber":5,"state":"TESTING"}]}',
})

/** A home of its own below a folder of this machine, in which command lines store their settings. */
export function openHome(root: string) {
  const home = mkdtempSync(join(root, 'home-'))
  const folder = join(home, '.config/mergeq')
  const file = join(folder, 'config.json')
  return {
    home,
    folder,
    file,
    /** Runs a command line without a token in its environment; a token in a stream fails the test. */
    async run(line: string | readonly string[], setting: Setting = {}) {
      const env = { HOME: home, MERGEQ_TOKEN: undefined, ...setting.env }
      const { code, out, err } = await mergeq(line, { realFiles: true, ...setting, env })
      for (const text of [out, err]) expect(encodingsFound(text, token)).toEqual([])
      return { code, out, err }
    },
    read: (): unknown => JSON.parse(readFileSync(file, 'utf8')),
    /** Writes the settings file; a document becomes JSON. */
    write(content: unknown, mode = 0o600) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode })
    },
  }
}

/** What a command that stores something answers. */
export const done = { code: 0, out: '', err: '' }

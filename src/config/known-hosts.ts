import type { ServiceHost } from '../host/host.ts'
import { parseRepository } from '../values/repository.ts'
import { listRemotes } from './git.ts'
import { projectFileSource } from './project-file.ts'
import type { Config } from './settings.ts'
import { profileSource } from './store.ts'

/** Returns the hosts of the repositories that settings, CI job and checkout name: that of the settings first. */
export async function knownHosts(
  { store, ciJob, read, require }: Pick<Config, 'store' | 'ciJob' | 'read' | 'require'>,
  host: ServiceHost,
): Promise<readonly string[]> {
  const used = await read('repo').catch(() => undefined)
  const project = projectFileSource(host, async () => undefined)
  const profile = profileSource(store, () => require('profile'), true)
  const named = await Promise.all(
    [project, profile, ciJob].map(async source => {
      const found = await Promise.resolve(source.find('repo')).catch(() => undefined)
      return found === undefined ? undefined : parseRepository(found.value)
    }),
  ).catch(() => [])
  const remotes = (await listRemotes(host).catch(() => [])).map(({ repo }) => repo)
  return [...new Set([used, ...named, ...remotes].flatMap(repo => repo?.host ?? []))]
}

// The version that a build prints.
import { spawnSync } from 'node:child_process'

/**
 * Returns the version of package.json, and for a build that is not one of its tag the commit as build metadata (semver):
 * `0.1.0+02ead434`, of a changed tree `0.1.0+02ead434.changed`. Without git, and where the folder is only a part of another
 * checkout, it is the version alone.
 */
export function buildVersion(version, root) {
  const git = (...words) => spawnSync('git', ['-C', root, ...words], { encoding: 'utf8' })
  const head = git('rev-parse', '--short=8', '--show-prefix', 'HEAD')
  const [prefix, commit] = head.status === 0 ? head.stdout.split('\n') : []
  if (prefix !== '' || !commit) return version
  const isChanged = git('status', '--porcelain').stdout !== ''
  const isTagged = git('tag', '--points-at', 'HEAD').stdout.split('\n').includes(`v${version}`)
  return isTagged && !isChanged ? version : `${version}+${commit}${isChanged ? '.changed' : ''}`
}

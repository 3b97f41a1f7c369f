import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { execa } from 'execa'

/** Builds the image of the project, and runs it. */
export interface ImageBuilder {
  readonly name: string
  /** Builds the `Dockerfile` of this folder. Throws with the output of the build if it fails. */
  build(): Promise<void>
  /** Runs words in a new container, the first one as its program, and returns standard output. */
  run(words: readonly string[], workFolder: string): Promise<string>
  /** Removes the image. */
  remove(): Promise<void>
}

const answers = async (program: string, ...words: readonly string[]): Promise<boolean> =>
  (await execa(program, words, { reject: false, timeout: 10_000 })).exitCode === 0

const digest = /@sha256:[\da-f]{64}/g

const tag = `mergeq-test-${process.pid}`

/** docker and podman have the same words. */
const withEngine = (program: string): ImageBuilder => ({
  name: program,
  build: async () => void (await execa(program, ['build', '--tag', tag, '.'])),
  async run([entrypoint = '', ...words], workFolder) {
    const volume = `${workFolder}:/work`
    const options = ['--rm', '--volume', volume, '--entrypoint', entrypoint]
    return (await execa(program, ['run', ...options, tag, ...words])).stdout
  },
  remove: async () => void (await execa(program, ['image', 'rm', '--force', tag])),
})

/** buildah runs without an engine; in a container or a sandbox it needs the isolation `chroot`. */
function withBuildah(place: string, bases: readonly string[]): ImageBuilder {
  const storage = join(place, 'storage')
  const global = ['--root', storage, '--runroot', join(place, 'run'), '--storage-driver', 'vfs']
  const isolation = ['--isolation', 'chroot', '--network', 'host']
  const buildah = async (...words: readonly string[]): Promise<string> =>
    (await execa('buildah', [...global, ...words])).stdout.trim()
  const certificates = join(place, 'certificates.crt')
  return {
    name: 'buildah',
    async build() {
      const isReachable = await answers('buildah', ...global, 'pull', '--quiet', bases[0] ?? '')
      // A base made here has another digest.
      const file = join(place, 'Dockerfile')
      const text = readFileSync('Dockerfile', 'utf8')
      writeFileSync(file, isReachable ? text : text.replace(digest, ''))
      if (!isReachable)
        await createBases(
          buildah,
          place,
          bases.map(base => base.replace(digest, '')),
        )
      // npm in the build trusts what npm on this machine trusts.
      const trusted = (await execa('npm', ['config', 'get', 'cafile'])).stdout.trim()
      const hasFile = existsSync(trusted)
      if (hasFile) copyFileSync(trusted, certificates)
      const settings = join(place, 'npmrc')
      writeFileSync(settings, 'cafile=/etc/npm-certificates.crt\n')
      const volumes = [`${certificates}:/etc/npm-certificates.crt:ro`, `${settings}:/usr/local/etc/npmrc:ro`]
      const options = hasFile ? volumes.flatMap(volume => ['--volume', volume]) : []
      await buildah('bud', ...isolation, ...options, '--tag', tag, '--file', file, '.')
    },
    async run(words, workFolder) {
      const container = await buildah('from', '--pull-never', tag)
      const options = [...isolation, '--volume', `${workFolder}:/work`]
      return buildah('run', ...options, container, '--', ...words)
    },
    async remove() {
      await buildah('rm', '--all')
      rmSync(storage, { recursive: true, force: true })
    },
  }
}

/** Makes the base images from the packages of Debian and the Node of this machine: no registry has them. */
async function createBases(
  buildah: (...words: readonly string[]) => Promise<string>,
  place: string,
  bases: readonly string[],
): Promise<void> {
  const archive = join(place, 'debian.tar')
  await execa('mmdebstrap', ['--variant=minbase', 'bookworm', archive])
  for (const base of bases) {
    const container = await buildah('from', 'scratch')
    const folder = await buildah('mount', container)
    await execa('tar', ['--extract', '--file', archive, '--directory', folder])
    if (base.includes('node:')) {
      const local = join(folder, 'usr/local')
      const npm = dirname(dirname(realpathSync((await execa('which', ['npm'])).stdout)))
      mkdirSync(join(local, 'lib/node_modules'), { recursive: true })
      copyFileSync(process.execPath, join(local, 'bin/node'))
      writeFileSync(join(local, 'LICENSE'), 'The license of Node')
      cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true })
      symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
    }
    await buildah('umount', container)
    await buildah('commit', '--quiet', container, `docker.io/library/${base}`)
  }
}

/** Returns the first program of this machine that can build images; undefined if there is none. */
export async function findImageBuilder(
  place: string,
  bases: readonly string[],
): Promise<ImageBuilder | undefined> {
  for (const program of ['docker', 'podman']) if (await answers(program, 'info')) return withEngine(program)
  return (await answers('buildah', 'info')) ? withBuildah(resolve(place), bases) : undefined
}

// Wine in a folder of its own: a small Debian system with Wine, in which programs run as on Windows.
import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** The release of Debian whose Wine is 10. */
const release = 'trixie'

/** Runs a program of this machine. Throws an error with the end of its output if it fails. */
export function run(program, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', ...options })
  if (status === 0) return stdout
  const said = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-3).join(' ')
  throw new Error(`${program} ${args[0] ?? ''}: ${error?.message ?? said}`)
}

/** Returns the address from which this machine gets its Debian packages. */
function packageSource() {
  const wanted = ['--format', '$(REPO_URI)', 'Created-By: Packages', 'Label: Debian']
  const [address] = run('apt-get', ['indextargets', ...wanted]).split('\n')
  if (!address) throw new Error('apt knows no source of Debian packages')
  return address
}

/** Returns the program `debootstrap` and its environment; it is unpacked into the folder where it is missing. */
function findDebootstrap(folder) {
  if (spawnSync('debootstrap', ['--version']).status === 0) return ['debootstrap', process.env]
  const unpacked = join(folder, 'debootstrap')
  if (!existsSync(unpacked)) {
    mkdirSync(unpacked, { recursive: true })
    run(
      'sh',
      ['-c', 'apt-get download -q debootstrap || { apt-get update -q && apt-get download -q debootstrap; }'],
      {
        cwd: folder,
      },
    )
    const archive = readdirSync(folder).find(name => /^debootstrap_.*\.deb$/.test(name)) ?? ''
    run('dpkg-deb', ['-x', join(folder, archive), unpacked])
  }
  const data = join(unpacked, 'usr/share/debootstrap')
  return [join(unpacked, 'usr/sbin/debootstrap'), { ...process.env, DEBOOTSTRAP_DIR: data }]
}

/**
 * Runs a command of the system in a process namespace and a mount namespace of its own: nothing stays mounted, and
 * nothing keeps running.
 */
const entry = `mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/tmp" &&
system=$1 && shift && chroot "$system" "$@"`

/** Returns the command line that runs a command of the system. */
const enter = (system, variables, command) => [
  ...['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', entry, 'sh', system],
  ...['/usr/bin/env', '-i', 'PATH=/usr/bin:/bin:/usr/sbin:/sbin', 'HOME=/root', 'LANG=C.UTF-8'],
  ...['WINEPREFIX=/root/wine', 'WINEDEBUG=-all', 'XDG_RUNTIME_DIR=/tmp'],
  ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
  ...command,
]

/** Starts `unshare`, which ends with this process, and with it all programs in its namespaces. */
function start(args, stdio) {
  const child = spawn('unshare', args, { stdio })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  return child
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.once(signal, () => process.exit(code))

/**
 * Sets up Wine in a folder and returns it. Throws an error that says why it cannot be set up.
 */
export function openWine(folder) {
  const system = join(folder, 'system')
  const ready = join(folder, 'ready')
  if (process.getuid?.() !== 0) throw new Error('only root can set it up')
  mkdirSync(folder, { recursive: true })
  if (!existsSync(ready)) {
    rmSync(system, { recursive: true, force: true })
    const [program, env] = findDebootstrap(folder)
    const what = ['--variant=minbase', '--include=wine,wine64', release, system, packageSource()]
    run(program, what, { env, maxBuffer: 64 * 1024 * 1024 })
    // Wine writes its settings when its server has ended.
    run('unshare', enter(system, {}, ['sh', '-c', 'wine wineboot --init; wineserver -w']))
    writeFileSync(ready, `${run('unshare', enter(system, {}, ['wine', '--version']))}`)
  }
  const disk = join(system, 'root/wine/drive_c')
  if (!existsSync(join(disk, 'windows'))) throw new Error(`Wine has no disk C: in ${system}`)
  return {
    version: readFileSync(ready, 'utf8').trim(),
    /** The folder of this machine that is the disk C:. */
    disk,
    /**
     * Runs a program of Windows in a folder below C:, given as on this machine, and resolves to its exit code. `log`
     * is the file for its output, because Node for Windows cannot write to a pipe of Linux. The output is printed
     * while it is written.
     */
    async run(words, { cwd, variables = {}, log }) {
      const output = openSync(log, 'w')
      const command = ['env', '-C', `/root/wine/drive_c/${cwd}`, 'wine', ...words]
      const child = start(enter(system, variables, command), ['ignore', output, output])
      let printed = 0
      const print = () => {
        const bytes = readFileSync(log)
        process.stdout.write(bytes.subarray(printed))
        printed = bytes.length
      }
      const timer = setInterval(print, 500)
      const code = await new Promise(resolve =>
        child.once('exit', resolve).once('error', () => resolve(null)),
      )
      clearInterval(timer)
      print()
      closeSync(output)
      return code
    },
    /**
     * Starts a line of shell commands in a terminal; its standard input and output are those of the terminal. Ctrl-C
     * does not end the shell.
     */
    startInTerminal(line, { cwd, variables = {} }) {
      const inTerminal = ['script', '-qefc', `trap : INT; stty cols 80 rows 24; ${line}`, '/dev/null']
      const command = ['env', '-C', `/root/wine/drive_c/${cwd}`, ...inTerminal]
      return start(enter(system, { TERM: 'xterm', ...variables }, command), ['pipe', 'pipe', 'inherit'])
    },
  }
}

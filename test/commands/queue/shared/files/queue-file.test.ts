import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { queueFileSchema } from '../../../../../scripts/generate/queue-file-schema.ts'
import { isObject, type JsonObject, parseJson, stringifyJson } from '../../../../../src/base/json.ts'
import {
  differences,
  parseQueueFile,
  settingNames,
  settingsDigest,
  updateBody,
} from '../../../../../src/commands/queue/shared/files/queue-file.ts'
import { parseYaml, writeYaml } from '../../../../../src/commands/queue/shared/files/yaml.ts'
import { anyCharacter } from '../../../../support/any-character.ts'

const asJsonObject = (value: unknown): JsonObject => {
  const json = parseJson(JSON.stringify(value))
  return isObject(json) ? json : {}
}

const read = (text: string) => parseQueueFile(parseYaml(text, 'q.yaml'), 'q.yaml')

describe('the contents of a queue file', () => {
  const inSettings = (line: string) => `settings:\n  ${line}`
  test.each([
    ['1: the file is empty.', ''],
    ['1: a queue file must be a mapping.', '- a'],
    ["2: unknown key 'version'.", 'settings: {}\nversion: 1'],
    ['1: settings must be a mapping.', 'settings:\n  - mode: single'],
    ["2: repo: 'web' is not a repository.", '\nrepo: web'],
    ['1: targetBranch must be a string.', 'targetBranch: 7'],
    ['3: invalid YAML: Map keys must be unique.', inSettings('mode: single\n  mode: parallel')],
    ['2: concurrency: "5" is not a whole number', inSettings('concurrency: "5"')],
    ["2: concurrency: '0' is not a whole number from 1 to 4294967295", inSettings('concurrency: 0')],
    ['2: batch: "yes" is not true or false.', inSettings('batch: yes')],
    ["2: mode: 'both' is not valid; must be one of: single, parallel.", inSettings('mode: both')],
    ["2: state: 'switching_modes' is not valid; must be one of", inSettings('state: switching_modes')],
    ['2: enqueueingLabel: true is not a string.', inSettings('enqueueingLabel: true')],
    ['2: requiredStatuses: "ci" is not a list of strings.', inSettings('requiredStatuses: ci')],
    ['2: mode: null is not allowed: the service cannot reset this setting.', inSettings('mode:')],
    ['2: branch: this setting is read-only.', inSettings('branch: main')],
    ['2: repo: this names the queue and is not a setting.', inSettings('repo: acme/web')],
    ['a queue file uses `requiredStatuses: null` instead.', inSettings('deleteRequiredStatuses: true')],
    ['the setting has no name.', inSettings('"": b')],
    ['4: `<<` (a merge key) is not supported: write', 'x: &base\n  batch: true\nsettings:\n  <<: *base'],
    ['1: `<<` (a merge key) is not supported: write', '<<: {settings: {}}'],
    ["1: unknown key '<<'.", '{"<<": {"settings": {}}}'],
    ['2: anchors and aliases are not supported', inSettings('a: &x [1]')],
    ['2: tags are not supported.', inSettings('a: !!js/function "x"')],
    ['2: the file has more than one document', 'settings: {}\n---\nsettings: {}'],
    ['2: a key must be a string', inSettings('5: a')],
    ['1: the file has too many lists and mappings.', '{'.repeat(50_000)],
  ])('is refused with its line: %s', (message, text) => {
    expect(() => read(text)).toThrow(message.replace(/^(?=\d)/, 'q.yaml:'))
  })

  test.each(['9007199254740993', '1e400', '.inf', '0xFFFFFFFFFFFFFFFF'])(
    'the number %s, which a double does not hold, is refused',
    number => {
      expect(() => read(inSettings(`a: ${number}`))).toThrow(
        `q.yaml:2: the number ${number} cannot be represented exactly.`,
      )
    },
  )

  test.each([
    [
      'names of any object',
      'settings: {__proto__: {a: 1}, constructor: 2}',
      '{"__proto__":{"a":1},"constructor":2}',
    ],
    ['any case', 'settings: {mode: PARALLEL, state: Paused}', '{"mode":"parallel","state":"PAUSED"}'],
    ['CRLF, YAML 1.1', '%YAML 1.1\r\n---\r\nsettings: {x: yes, batch: true}\r\n', '{"x":"yes","batch":true}'],
    ['no settings', 'repo: acme/web', '{}'],
    ['a quoted << of an unknown setting', 'settings: {a: {"<<": 1}}', '{"a":{"<<":1}}'],
    ['JSON with tabs and escapes', '{\n\t"settings": {\n\t\t"a\\/b": "\\u0000"}}', '{"a/b":"\\u0000"}'],
    [
      'numbers that a double holds',
      'settings: {a: 0x10, b: 0o17, c: 1e3, d: -0.5, e: 1.50}',
      '{"a":16,"b":15,"c":1000,"d":-0.5,"e":1.5}',
    ],
  ])('%s can stand in it', (_, text, settings) => {
    const file = read(text)
    expect(JSON.stringify(file.settings)).toBe(settings)
    expect(Object.getPrototypeOf(file.settings)).toBe(Object.prototype)
  })

  test('the schema accepts the same values of each setting, and the same keys', () => {
    const isValid = new Ajv().compile(queueFileSchema)
    const isRead = (file: object) => {
      try {
        read(JSON.stringify(file))
        return true
      } catch {
        return false
      }
    }
    const values = [0, 1, -1, 1.5, 4_294_967_295, 4_294_967_296, true, [], ['a'], [''], [1], null, {}, '']
    const words = ['paused', 'RUNNING', 'single', 'off', 'always', 'squash', 'rename_temp_branch']
    const settings = settingNames.flatMap(name =>
      [...values, ...words].map(value => ({ settings: { [name]: value } })),
    )
    const others = [{ version: 1 }, { settings: null }, { settings: [] }, { settings: { futureThing: [1] } }]
    const identities = [{}, { repo: 'acme/web', targetBranch: 'main' }, { repo: 7 }, { targetBranch: '' }]
    for (const file of [...settings, ...others, ...identities, { $schema: './q.json' }, { $schema: 7 }])
      expect({ file, valid: isValid(file) }).toEqual({ file, valid: isRead(file) })
  })

  test('a setting with the name of a merge key is written and read back', () => {
    const settings = { futureThing: { '<<': { a: 1 } } }
    expect(read(writeYaml({ settings })).settings).toEqual(settings)
  })

  test('any document is written and read back unchanged', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue(), { maxKeys: 5 }),
        document => {
          const settings = asJsonObject(document)
          expect(stringifyJson(parseYaml(writeYaml({ settings }), 'q').value)).toBe(
            stringifyJson({ settings }),
          )
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('the settings of a queue and of a file', () => {
  test('a setting with the name of a member that every object has is like any other', () => {
    const file = asJsonObject(JSON.parse('{"toString": 1, "__proto__": {}, "valueOf": null}'))
    expect(differences({}, file)).toEqual([
      { setting: 'toString', live: null, file: 1 },
      { setting: '__proto__', live: null, file: {} },
    ])
  })

  test('a setting that the service derives from a changed one is sent with the value of the file', () => {
    const file = { concurrency: 5, bisectionConcurrency: 2, batch: true }
    const live = { concurrency: 1, bisectionConcurrency: 2, batch: false }
    expect(updateBody(differences(live, file), file)).toEqual(file)
    expect(updateBody(differences({ ...live, concurrency: 5 }, file), file)).toEqual({ batch: true })
  })

  test('the digest does not depend on the order of keys', async () => {
    const digest = await settingsDigest({ batch: true, futureThing: { a: 1, b: 2 } })
    expect(await settingsDigest({ futureThing: { b: 2, a: 1 }, batch: true })).toBe(digest)
    expect(await settingsDigest({ futureThing: { b: 2, a: 1 }, batch: false })).not.toBe(digest)
  })
})

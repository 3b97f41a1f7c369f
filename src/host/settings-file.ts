import { basename, dirname, extname } from 'node:path'
import Conf from 'conf'
import type { Json, JsonObject } from '../base/json.ts'

/**
 * Reads a settings file, which exists: where it is missing, conf would make its directory. It neither writes nor clears a
 * file without defaults and migrations (docs/decisions/0012-conf-in-a-file-of-its-own.md).
 */
export function readSettings(path: string, parse: (text: string) => JsonObject) {
  const file = openFile(path, { deserialize: parse })
  return {
    get: (member: string): Json | undefined => file.get(member),
    get store() {
      return file.store
    },
  }
}

export function writeSettings(
  path: string,
  document: JsonObject,
  format: (document: JsonObject) => string,
): void {
  openFile(path, { configFileMode: 0o600, serialize: format }).store = document
}

const openFile = (path: string, options: ConstructorParameters<typeof Conf<JsonObject>>[0]) =>
  new Conf<JsonObject>({
    cwd: dirname(path),
    configName: basename(path, extname(path)),
    fileExtension: extname(path).slice(1),
    // A profile may have a dot in its name.
    accessPropertiesByDotNotation: false,
    ...options,
  })

import { fieldsHelp } from '../global-options.ts'

/** Returns a command line in which `--fields` as the last word has its value: the list of the fields. */
export const completeFieldsOption = (argv: readonly string[]): readonly string[] =>
  argv.at(-1) === '--fields' && !argv.includes('--') ? [...argv, fieldsHelp] : argv

/** Whether a command line asks for the list of the fields: then no argument is required. */
export const asksForFields = (argv: readonly string[]): boolean =>
  argv.some(
    (word, index) =>
      word === `--fields=${fieldsHelp}` || (word === '--fields' && argv[index + 1] === fieldsHelp),
  )

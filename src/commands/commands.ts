import type { Command } from './command.ts'
import { wait } from './wait.ts'

/** The commands that are written by hand. */
export const commands: readonly Command[] = [wait]

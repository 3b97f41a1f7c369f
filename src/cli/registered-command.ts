import type { ParsedArgs } from '../config/args.ts'
import type { Host } from '../host/host.ts'
import type { CommandRunner } from './command.ts'
import type { SecretOutput } from './context.ts'
import type { DocumentedCommand } from './help/command-doc.ts'

/** A command that runs code of its own. */
export interface RunnableCommand extends DocumentedCommand {
  /**
   * Runs the command and returns its exit code. Rejects with the error that ended the command.
   *
   * @param runner runs further command lines in this process
   */
  run(args: ParsedArgs, host: Host, secrets: SecretOutput, runner: CommandRunner): Promise<number>
}

/**
 * A command that prints documentation generated from all registered commands. `cli/help` renders the text.
 */
export interface DocumentationCommand extends DocumentedCommand {
  /** The documentation that the command prints. */
  readonly documentation: 'help' | 'completion'
}

/** A command that can be typed. `main.ts` hands the list of them to the program. */
export type RegisteredCommand = RunnableCommand | DocumentationCommand

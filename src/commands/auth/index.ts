import type { CommandModule } from '../../cli/registered-command.ts'
import { authLoginCommand } from './login.ts'
import { authLogoutCommand } from './logout.ts'
import { authStatusCommand } from './status.ts'
import { authTokenCommand } from './token.ts'

/** The commands of `mergeq auth`, in the order in which help lists them. */
export const authCommands: readonly CommandModule[] = [
  authLoginCommand,
  authLogoutCommand,
  authStatusCommand,
  authTokenCommand,
]

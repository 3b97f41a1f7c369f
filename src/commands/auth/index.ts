import type { Command } from '../../run/command.ts'
import { authLoginCommand } from './login.ts'
import { authLogoutCommand } from './logout.ts'
import { authStatusCommand } from './status.ts'
import { authTokenCommand } from './token.ts'

export const authCommands: readonly Command[] = [
  authLoginCommand,
  authLogoutCommand,
  authStatusCommand,
  authTokenCommand,
]

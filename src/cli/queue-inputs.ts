import { flag, settingInput } from './inputs.ts'

/** The queue of a command: a repository and its target branch, from the settings. */
export const queueInputs = { repo: settingInput('repo'), targetBranch: settingInput('targetBranch') }

/** The repository and the organization of a command about tests, from the settings. */
export const organizationInputs = { repo: settingInput('repo'), org: settingInput('org') }

/** The option that confirms in advance. */
export const yesInput = flag({ name: 'yes', short: 'y', summary: 'Skip the confirmation prompt' })

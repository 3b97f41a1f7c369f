import { flag, settingInput } from './inputs.ts'

export const queueInputs = { repo: settingInput('repo'), targetBranch: settingInput('targetBranch') }

export const organizationInputs = { repo: settingInput('repo'), org: settingInput('org') }

export const yesInput = flag({ name: 'yes', short: 'y', summary: 'Skip the confirmation prompt' })

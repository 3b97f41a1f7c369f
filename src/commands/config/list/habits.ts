export const habits = [['config', 'ls show view all print --list -l', 'config list']] as const

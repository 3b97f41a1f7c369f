export const habits = [['config', 'get-value --get', 'config get']] as const

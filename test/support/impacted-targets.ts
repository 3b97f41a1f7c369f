export const sha = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'
export const at = `-R acme/web -b main --sha ${sha}`

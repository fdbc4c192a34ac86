/** Imports a module of one of the packages here, which no other folder sees. */
export const load = (module: string): Promise<unknown> => import(module);

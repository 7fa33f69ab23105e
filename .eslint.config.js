// Not named eslint.config.js because only dot files may stand beside the folders: `eslint -c .eslint.config.js .`
import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'

export default defineConfig(
  globalIgnores(['dist', '**/dist', '.data', '.tap', '.tap-run']),
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommended],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: {
      // One program for the tree, since its own tsconfig gives the plug-in template no sources of ours, and one for what
      // runs in browsers.
      parserOptions: {
        project: ['./tsconfig.json', './plugins/console/client/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        // `t` is what every test is given, also one that asserts by throwing.
        {
          argsIgnorePattern: '^(_.*|t)$',
          varsIgnorePattern: '^_',
          caughtErrors: 'none',
          ignoreRestSiblings: true,
        },
      ],
      '@typescript-eslint/consistent-type-imports': [
        'error',
        // Drivers that are optional are named by import('…') types only.
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],

      // These need types.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          // tap waits for its subtests by itself.
          allowForKnownSafePromises: [
            { from: 'package', name: 'PromiseWithSubtest', package: '@tapjs/core' },
          ],
        },
      ],
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-for-in-array': 'error',
      '@typescript-eslint/no-implied-eval': 'error',
      '@typescript-eslint/require-array-sort-compare': ['error', { ignoreStringArrays: true }],
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],

      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-var': 'error',
      'prefer-const': 'error',
      'no-constant-binary-expression': 'error',
      'no-self-compare': 'error',
      'no-unreachable-loop': 'error',
      'require-await': 'off',
    },
  },
  {
    // What a reply holds has no type there.
    files: ['test/**'],
    rules: { '@typescript-eslint/require-array-sort-compare': 'off' },
  },
)

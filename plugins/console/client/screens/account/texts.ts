/** What several screens of people without a session say. */
export const accountTexts = {
  passwordHint: 'At least 12 characters; several words are best.',
  haveAccount: 'Sign in to an account you have',
  creating: 'Creating…',
  incompleteLink: 'The link is not complete. Open it again, all of it.',
  askForLink: 'Ask for a new link',
}

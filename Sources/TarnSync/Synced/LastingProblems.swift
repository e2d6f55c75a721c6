import TarnStore

/// Ends a wait for the server when its session, in any process, meets a problem that waiting cannot
/// solve: a wrong login, a database that is not prepared, a missing class, a manual reset. Also
/// without a session, because the user has logged out.
///
/// Only problems that occur after the wait began count: earlier ones may have been fixed.
struct LastingProblems: Sendable {
  private let store: Store
  private let user: User
  private let isUpload: Bool
  /// The number of problems before the wait.
  private let former: UInt64
  /// The question that a connected session answers after it has asked the server again.
  private let asked: UInt64?

  /// Begins the wait, and makes this process's session try again at once.
  init(
    _ session: SyncSession, _ direction: SyncSession.ProgressDirection
  ) throws(StorageError) {
    store = session.store
    user = session.user
    isUpload = direction == .upload
    let notes = try SessionNotes.read(in: store.newestSnapshot())
    former = notes.lastingProblems
    guard notes.isLasting else {
      asked = nil
      return
    }
    session.reconnect()
    asked = isUpload ? try SessionNotes.edit(store) { $0.asked += 1 }.asked : nil
  }

  /// - Throws: ``SyncError`` for such a problem; `StorageError` if the file cannot be read.
  func check() throws {
    try requireLogin()
    let notes = try SessionNotes.read(in: store.newestSnapshot())
    guard notes.isLasting else { return }
    var isNews = notes.lastingProblems != former
    if notes.isConnected {
      // The session downloads, and sends nothing.
      guard isUpload else { return }
      if let asked, notes.answered >= asked { isNews = true }
    }
    if isNews { throw SyncError(notes) }
  }

  /// A process in which the user has logged in may still have the session.
  private func requireLogin() throws {
    if user.isLoggedIn { return }
    let cursor = try store.cursors().first { $0.record.name == SessionNotes.cursorName }
    if cursor?.isHeld == true { return }
    throw SyncError(
      .clientUserError,
      ServerError(
        ServerSetup.exchange, "the user \(user.id) has logged out",
        hint: "Unsent commits stay in the file, and are sent after the next login."))
  }
}

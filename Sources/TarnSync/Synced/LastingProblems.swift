import TarnStore

/// Ends a wait for the server when its session, of whichever process, meets a problem that no
/// waiting ends: a wrong login, a database that is not prepared, a class that is not there.
///
/// Only problems that are met after the wait began count: those of before may have been mended.
struct LastingProblems: Sendable {
  private let store: Store
  private let isUpload: Bool
  /// How many problems there were before.
  private let former: UInt64
  /// The question that a connected session answers after it has asked the server again.
  private let asked: UInt64?

  /// Begins, and lets this process's session try again at once.
  init(
    _ session: SyncSession, _ direction: SyncSession.ProgressDirection
  ) throws(StorageError) {
    store = session.store
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
    let notes = try SessionNotes.read(in: store.newestSnapshot())
    guard notes.isLasting else { return }
    var isNews = notes.lastingProblems != former
    if notes.isConnected {
      // It downloads, and sends nothing.
      guard isUpload else { return }
      if let asked, notes.answered >= asked { isNews = true }
    }
    if isNews { throw SyncError(notes) }
  }
}

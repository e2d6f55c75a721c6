import Tarn
import TarnStore

/// The sessions of this process: one for each file, however many Realms have it open.
final class SessionHub: Sendable {
  static let shared = SessionHub()

  private struct Entry {
    weak var session: SyncSession?
    let number: UInt64
  }
  private let sessions = Lock([ObjectIdentifier: Entry]())

  /// The session of a file, created if needed.
  ///
  /// - Throws: `StorageError` for classes that cannot be synchronized, or if the file cannot be
  ///   written.
  func session(
    of store: Store, _ classes: [String], _ configuration: SyncConfiguration,
    _ opened: Realm.Configuration
  ) throws(StorageError) -> SyncSession {
    if let session = session(of: store) {
      guard session.user == configuration.user else {
        throw StorageError(
          .alreadyOpen, operation: "synchronize", path: store.path,
          detail: "the file is open as that of the user \(session.user.id), not of"
            + " \(configuration.user.id). Give each user a file")
      }
      try session.subscribeInitially(configuration, isFirst: false)
      return session
    }
    let made = try SyncSession(store, classes, configuration, opened)
    try made.subscribeInitially(configuration, isFirst: true)
    let session = sessions.withLock { sessions in
      if let other = sessions[ObjectIdentifier(store)]?.session { return other }
      sessions[ObjectIdentifier(store)] = Entry(session: made, number: made.number)
      made.checkCommits()
      return made
    }
    session.resume()
    return session
  }

  /// A session was released. Another one may have the file already, with its rules for commits.
  func end(_ number: UInt64, of store: Store) {
    sessions.withLock { sessions in
      guard sessions[ObjectIdentifier(store)]?.number == number else { return }
      sessions[ObjectIdentifier(store)] = nil
      store.setCommitCheck(nil)
    }
  }

  func session(of store: Store) -> SyncSession? {
    sessions.withLock { $0[ObjectIdentifier(store)]?.session }
  }
}

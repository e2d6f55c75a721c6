import Foundation
import Tarn
import TarnStore

extension SyncError {
  /// Lets the session of a file with ``ClientResetMode/manual(errorHandler:)`` carry out one reset.
  public final class ActionToken: Sendable {
    weak let session: SyncSession?
    /// The file for the copy of the Realm.
    let path: String

    init(_ session: SyncSession, _ path: String) {
      self.session = session
      self.path = path
    }
  }

  /// For ``Code/clientResetError`` that an error handler receives, the path of a file that does not
  /// exist yet, and a token: ``SyncSession/immediatelyHandleError(_:syncManager:)`` copies the
  /// Realm to that file, with its unsent commits, and lets the reset continue. Nil for other
  /// errors.
  public func clientResetInfo() -> (String, ActionToken)? {
    reset.map { ($0.path, $0) }
  }
}

extension SyncSession {
  /// Copies the Realm to the path of ``SyncError/clientResetInfo()``, and lets the reset continue:
  /// the session discards unsent commits, and the file gets the server's state. Realms may stay
  /// open, and ``wait(for:)`` returns when the download is complete. The next reset waits again.
  ///
  /// Blocks the thread while it copies. If the copy cannot be made, nothing is discarded and the
  /// error handler receives ``SyncError/Code/clientResetError`` again, with the reason. Does
  /// nothing if the session has ended.
  public static func immediatelyHandleError(
    _ token: SyncError.ActionToken, syncManager: SyncManager
  ) {
    token.session?.reset(copyingTo: token.path)
  }

  /// A copy of the Realm has its path and a random number as name.
  func addReset(to error: SyncError) -> SyncError {
    guard error.code == .clientResetError else { return error }
    var error = error
    let number = String(UInt32.random(in: .min ... .max), radix: 16)
    error.reset = SyncError.ActionToken(self, "\(store.path).recovered-\(number)")
    return error
  }

  private func reset(copyingTo path: String) {
    do {
      let realm = try Realm(configuration: local)
      realm.refresh()
      try realm.writeCopy(toFile: URL(filePath: path))
      permission.give()
      reconnect()
    } catch {
      let reason = ServerError(
        state: ResetRule.waitState, "copy the file before the reset", "\(error)")
      tell(SyncError(reason))
    }
  }
}

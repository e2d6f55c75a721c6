import TarnStore

/// Which entry of `sync` has which file: a store belongs to one server. Any thread.
final class SyncedPaths: Sendable {
  private struct Owner {
    let id: ObjectIdentifier
    let server: String
  }
  private let owners = Lock([String: Owner]())

  /// Takes a file for an entry.
  ///
  /// - Returns: nil, or the server of the entry that has it.
  func claim(_ path: String, _ runner: SyncRunner) -> String? {
    owners.withLock { owners in
      if let owner = owners[path], owner.id != ObjectIdentifier(runner) { return owner.server }
      owners[path] = Owner(id: ObjectIdentifier(runner), server: runner.settings.server)
      return nil
    }
  }

  /// - Parameter path: nil for all files of the entry.
  func release(_ path: String? = nil, of runner: SyncRunner) {
    owners.withLock { owners in
      owners = owners.filter { known, owner in
        owner.id != ObjectIdentifier(runner) || path != nil && path != known
      }
    }
  }
}

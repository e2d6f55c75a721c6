/// The location of a store.
package enum StoreLocation: Hashable, Sendable {
  /// In the file at that path, with its companions next to it.
  case file(String)
  /// In the memory of this process. Another process's store with the same name is another store.
  case memory(String)

  private static let memoryPrefix = "memory:"

  /// The path, or its replacement in messages.
  package var description: String {
    switch self {
    case .file(let path): path
    case .memory(let name): Self.memoryPrefix + name
    }
  }

  /// The file at an error's path; nil for an in-memory store or an empty path.
  package static func file(ofErrorAt path: String) -> String? {
    path.isEmpty || path.beginsWithBytes(of: memoryPrefix) ? nil : path
  }
}

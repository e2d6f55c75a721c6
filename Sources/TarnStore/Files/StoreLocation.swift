/// Where a store lies.
package enum StoreLocation: Hashable, Sendable {
  /// In the file at that path, with its companions beside it.
  case file(String)
  /// In the memory of this process alone. The name means something in this process only; another
  /// one's store of that name is another store.
  case memory(String)

  private static let memoryPrefix = "memory:"

  /// The path, or what stands for one where people are told of the store.
  package var description: String {
    switch self {
    case .file(let path): path
    case .memory(let name): Self.memoryPrefix + name
    }
  }

  /// The file that an error's path leads to, nil if it leads to none.
  package static func file(ofErrorAt path: String) -> String? {
    path.isEmpty || path.hasPrefix(memoryPrefix) ? nil : path
  }
}

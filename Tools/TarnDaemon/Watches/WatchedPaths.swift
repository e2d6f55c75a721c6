import Foundation
import TarnStore

/// The paths that a pattern stands for.
enum WatchedPaths {
  /// One path for each file: a link beside its target, or another link to it, is the same store,
  /// which has one cursor for each sink. The target's own path is preferred.
  static func distinct(_ paths: [String]) -> [String] {
    var chosen: [FileIdentity: String] = [:]
    for path in paths {
      guard let identity = FileFacts.at(path)?.identity else { continue }
      guard let other = chosen[identity] else {
        chosen[identity] = path
        continue
      }
      if isLink(other), !isLink(path) { chosen[identity] = path }
    }
    return paths.filter { path in
      guard let identity = FileFacts.at(path)?.identity else { return true }
      return chosen[identity].map { $0 == path } ?? true
    }
  }

  private static func isLink(_ path: String) -> Bool {
    var facts = stat()
    return path.withPath { lstat($0, &facts) } == 0 && facts.st_mode & S_IFMT == S_IFLNK
  }
}

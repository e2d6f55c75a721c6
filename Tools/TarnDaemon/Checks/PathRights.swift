import Foundation
import ToolSupport

/// What this process may do with paths. It opens nothing.
enum PathRights {
  /// Why a file cannot be made at a path; nil if it can.
  static func faultOfMaking(_ path: String) -> String? {
    guard let path = target(of: path) else { return "\(path) is a link that leads to itself" }
    let folder = folder(of: path)
    if let fault = faultOfLength(path) { return fault }
    guard let kind = kind(of: folder) else { return "there is no folder \(folder)" }
    guard kind == S_IFDIR else { return "\(folder) is not a folder" }
    guard may(folder, W_OK | X_OK) else {
      return "\(who) may not make files in \(folder)"
    }
    return nil
  }

  /// Why the folders up to a path cannot be made, or written; nil if they can.
  static func faultOfFolders(_ path: String) -> String? {
    if let fault = faultOfLength(path) { return fault }
    guard let kind = kind(of: path) else {
      if isLink(path) { return "\(path) is a link to a folder that is not there" }
      let parent = folder(of: path)
      return parent == path ? "there is no \(path)" : faultOfFolders(parent)
    }
    guard kind == S_IFDIR else { return "\(path) is not a folder" }
    return may(path, W_OK | X_OK) ? nil : "\(who) may not make files in \(path)"
  }

  /// Why nothing can have a path; nil if something can.
  private static func faultOfLength(_ path: String) -> String? {
    var facts = stat()
    let isTooLong = path.withPath { lstat($0, &facts) } != 0 && errno == ENAMETOOLONG
    return isTooLong ? "the name \(path) is too long" : nil
  }

  /// Why a file cannot be read; nil if it can.
  static func faultOfReading(_ path: String) -> String? {
    guard let kind = kind(of: path) else { return "there is no file \(path)" }
    if kind == S_IFDIR { return "\(path) is a folder" }
    return may(path, R_OK) ? nil : "\(who) may not read \(path)"
  }

  /// Why the names in a folder cannot be read; nil if they can.
  static func faultOfListing(_ folder: String) -> String? {
    may(folder, R_OK | X_OK) ? nil : "\(who) may not read the folder \(folder)"
  }

  static func may(_ path: String, _ rights: Int32) -> Bool {
    path.withPath { access($0, rights) } == 0
  }

  /// The type of what is at a path, of `S_IFMT`; nil if there is nothing, or nobody may look.
  static func kind(of path: String) -> mode_t? {
    var facts = stat()
    return path.withPath({ stat($0, &facts) }) == 0 ? facts.st_mode & S_IFMT : nil
  }

  /// Why nothing can be seen at a path.
  static func absence(of path: String) -> String {
    var facts = stat()
    let code = path.withPath { stat($0, &facts) } == 0 ? ENOENT : errno
    return code == ENOENT
      ? "there is no such file" : "it cannot be looked at: \(String(cString: strerror(code)))"
  }

  static func isLink(_ path: String) -> Bool {
    var facts = stat()
    return path.withPath({ lstat($0, &facts) }) == 0 && facts.st_mode & S_IFMT == S_IFLNK
  }

  /// Where a file that is made at a path appears: behind all links that lead on from it. Nil if
  /// they do not end.
  private static func target(of path: String) -> String? {
    var path = path
    for _ in 0..<40 {
      guard isLink(path) else { return path }
      var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
      guard path.withPath({ readlink($0, &bytes, bytes.count - 1) }) > 0 else { return path }
      let next = String(path: bytes)
      path = next.beginsWithBytes(of: "/") ? next : "\(folder(of: path))/\(next)"
    }
    return nil
  }

  /// Why the files of a pattern cannot be looked for; nil if they can.
  static func faultOfLooking(for pattern: String) -> String? {
    let folder = UnitDropIn.fixedFolder(of: pattern)
    var facts = stat()
    guard folder.withPath({ stat($0, &facts) }) == 0 else {
      return errno == EACCES ? "\(who) cannot look into the folders of \(folder)" : nil
    }
    return may(folder, R_OK | X_OK) ? nil : "\(who) cannot look into \(folder)"
  }

  /// A path that all spellings have, as far as its folder is there.
  static func canonical(_ path: String) -> String {
    guard let slash = path.lastASCII("/"),
      let found = folder(of: path).withPath({ realpath($0, nil) })
    else { return path }
    defer { free(found) }
    let folder = String(path: found)
    return (folder == "/" ? "" : folder) + path[slash...]
  }

  /// Makes the folders up to a path, for this user only.
  static func makeFolders(_ path: String) throws(ToolError) {
    if kind(of: path) == S_IFDIR { return }
    let parent = folder(of: path)
    if parent != path { try makeFolders(parent) }
    guard path.withPath({ mkdir($0, 0o700) }) == 0 || errno == EEXIST else {
      throw ToolError("cannot make", path, errno: errno)
    }
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastASCII("/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// The user of this process, for messages.
  static var who: String {
    guard let entry = getpwuid(geteuid()), let name = entry.pointee.pw_name else {
      return "user \(geteuid())"
    }
    return "the user \(String(cString: name))"
  }
}

extension PathRights {
  /// Whether the group or others may use a file.
  static func isOpenToOthers(_ path: String) -> Bool {
    var facts = stat()
    return path.withPath({ stat($0, &facts) }) == 0 && facts.st_mode & 0o077 != 0
  }
}

import Foundation
import TarnStore

extension Realm {
  /// True if the configuration's file exists; for an in-memory Realm, if an instance is open.
  public static func fileExists(for configuration: Configuration) -> Bool {
    switch configuration.location {
    case .file(let path): FileFacts.at(path) != nil
    case .memory: StoreRegistry.isOpen(configuration.location)
    }
  }

  /// Deletes the configuration's file and its two companions. An in-memory Realm is discarded with
  /// its last instance.
  ///
  /// - Returns: true if there was a file.
  /// - Throws: `Realm.Error.alreadyOpen` if this process has it open, `.filePermissionDenied` or
  ///   `.fileOperationFailed` if it cannot be deleted.
  @discardableResult
  public static func deleteFiles(for configuration: Configuration) throws -> Bool {
    let location = configuration.location
    StoreLeave.wait(for: location, atMost: StoreOpening.leaving)
    guard !StoreRegistry.isOpen(location) else {
      throw Error(
        .alreadyOpen,
        message: "\(location.description) is open in this process: release every Realm first.",
        fileURL: configuration.fileURL)
    }
    guard case .file(let path) = location else { return false }
    let url = URL(fileURLWithPath: path)
    let existed = fileExists(for: configuration)
    for suffix in ["", "-lock", "-signal"] {
      guard let code = FileFacts.remove(path + suffix), code != ENOENT else { continue }
      let isRefused = code == EACCES || code == EPERM || code == EROFS
      throw Error(
        isRefused ? .filePermissionDenied : .fileOperationFailed,
        message: "Cannot delete \(path + suffix): \(unsafe String(cString: strerror(code)))",
        fileURL: url)
    }
    if existed { StoreLog.shared.write(.info, "deleted \(path)") }
    return existed
  }
}

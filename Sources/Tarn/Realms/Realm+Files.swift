import Foundation
import TarnStore

extension Realm {
  /// True if the configuration's file exists.
  public static func fileExists(for configuration: Configuration) -> Bool {
    FileManager.default.fileExists(atPath: configuration.path)
  }

  /// Deletes the configuration's file and the two that stand beside it.
  ///
  /// - Returns: true if there was a file.
  /// - Throws: `Realm.Error.alreadyOpen` if this process has it open, `.filePermissionDenied` or
  ///   `.fileOperationFailed` if it cannot be deleted.
  @discardableResult
  public static func deleteFiles(for configuration: Configuration) throws -> Bool {
    let path = configuration.path
    let url = URL(fileURLWithPath: path)
    guard !StoreRegistry.isOpen(path) else {
      throw Error(
        .alreadyOpen, message: "\(path) is open in this process: let go of every Realm first.",
        fileURL: url)
    }
    let existed = fileExists(for: configuration)
    for suffix in ["", "-lock", "-signal"] {
      do {
        try FileManager.default.removeItem(atPath: path + suffix)
      } catch CocoaError.fileNoSuchFile {
        continue
      } catch {
        let isRefused = (error as? CocoaError)?.code == .fileWriteNoPermission
        throw Error(
          isRefused ? .filePermissionDenied : .fileOperationFailed,
          message: "Cannot delete \(path + suffix): \(error.localizedDescription)", fileURL: url)
      }
    }
    return existed
  }
}

/// The owner and permissions of a file.
struct FileRights: Equatable {
  let owner: UInt32
  let group: UInt32
  /// Permission bits.
  let mode: UInt32
}

extension FileRights {
  /// Why a file next to data with these permissions must not be used as its companion; nil if it
  /// may.
  ///
  /// A user who can write a companion can end every process that uses it, or do worse, by writing
  /// into its mapping. So its owner must be able to write the data anyway, or be this user, or
  /// root; and a class of users may have write permission only if it can read the data.
  ///
  /// - Parameters:
  /// - folder: the folder of both.
  /// - user: this user.
  func objection(to companion: FileRights, in folder: FileRights, user: UInt32) -> String? {
    let isTrusted = [owner, 0, user].contains(companion.owner)
    if !isTrusted, mode & 0o002 == 0, !isMember(ownerOf: companion, folder) {
      return "it belongs to user \(companion.owner), who cannot write the data"
    }
    if companion.mode & 0o002 != 0, mode & 0o004 == 0 {
      return "all users can write it, but not all can read the data"
    }
    let reads: UInt32 = companion.group == group ? 0o040 : 0o004
    if companion.mode & 0o020 != 0, mode & reads == 0 {
      return "group \(companion.group) can write it, but cannot read the data"
    }
    return nil
  }

  /// Can the companion's owner write the data as a member of its group? Only a member can give a
  /// file that group, except in a folder that passes its own group on and that anyone can add files
  /// to.
  private func isMember(ownerOf companion: FileRights, _ folder: FileRights) -> Bool {
    let isGiven = folder.group == group && folder.mode & 0o002 != 0
    return mode & 0o020 != 0 && companion.group == group && !isGiven
  }

  /// The permissions of a companion of this file. The owner can always write it, because a process
  /// that only reads a write-protected store also locks there. Every user who can write it can read
  /// the data.
  ///
  /// - Parameter given: the companion's group. If it differs from the data's, it gets none of the
  ///   permissions of the data's group.
  func companionMode(group given: UInt32) -> UInt32 {
    var wanted = (mode | 0o600) & (given == group ? 0o666 : 0o606)
    for readBit in [0o040, 0o004] as [UInt32] where wanted & readBit == 0 {
      wanted &= ~(readBit >> 1)
    }
    return wanted
  }

  /// True if the owner of this file can write that one.
  func ownerMayWrite(_ companion: FileRights) -> Bool {
    if companion.owner == owner || companion.mode & 0o002 != 0 { return true }
    return companion.group == group && companion.mode & 0o020 != 0
  }
}

extension FileFacts {
  var rights: FileRights { FileRights(owner: owner, group: group, mode: mode) }
}

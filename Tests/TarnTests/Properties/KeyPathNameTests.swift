import Testing

@testable import Tarn

@Suite struct KeyPathNameTests {
  @Test func propertiesHaveTheirNames() {
    #expect(_name(for: \ModelDog.name) == "name")
    #expect(_name(for: \ModelDog._id) == "_id")
    #expect(_name(for: \ModelDog.mood) == "mood")
    #expect(_name(for: \ModelDog.favouriteToy) == "favouriteToy")
    #expect(_name(for: \ModelPuppy.weeks) == "weeks")
    #expect(_name(for: \ModelPuppy.age) == "age")
    #expect(_name(for: \ModelToy.dogs) == "dogs")
  }

  @Test func everyPropertyOfEveryTypeIsTraced() {
    let paths: [PartialKeyPath<ModelEverything>] = [
      \.int, \.int8, \.bool, \.float, \.double, \.string, \.data, \.date, \.uuid, \._id, \.size,
      \.optionalInt, \.optionalBool, \.optionalString, \.optionalData, \.optionalMood,
    ]
    let names = paths.map { _name(for: $0) }
    #expect(
      names == [
        "int", "int8", "bool", "float", "double", "string", "data", "date", "uuid", "_id", "size",
        "optionalInt", "optionalBool", "optionalString", "optionalData", "optionalMood",
      ])
  }

  @Test func linksAreFollowed() {
    #expect(_name(for: \ModelDog.mother?.age) == "mother.age")
    #expect(_name(for: \StableHorse.foals[0].age) == "foals.age")
    #expect(_name(for: \StableHorse.foals[3].mother?.foals[1].name) == "foals.mother.foals.name")
    #expect(_name(for: \ModelDog.mother?.favouriteToy?.color) == "mother.favouriteToy.color")
    #expect(_name(for: \ModelDog.mother?.mother) == "mother.mother")
  }
}

// no_streams.cpp: std::cin and std::cout are not made ready, because nothing here uses them.
//
// protobuf's headers include <iostream>, which puts an object of this class into every file that
// includes them; the first one that is constructed builds a locale and eight streams, an eighth of
// what a command costs beyond an empty program. tools/tidy.py keeps <iostream> out of src. Weak: a
// standard library that makes its streams ready elsewhere goes on doing so.
namespace std {

class ios_base {
  public:
    class Init {
      public:
        Init();
        ~Init();
    };
};

[[gnu::weak]] ios_base::Init::Init() {}
[[gnu::weak]] ios_base::Init::~Init() {}

}  // namespace std
